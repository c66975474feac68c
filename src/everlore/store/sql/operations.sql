-- open_workspace: the workspace of that name, made if need be
select everlore.open_workspace(%(id)s, %(name)s);

-- find_workspace: the id of the workspace of that name
select everlore.find_workspace(%(name)s);

-- list_workspaces: all of them, with what is in them
select workspace_id, name, created_at, threads, messages, last_at from everlore.list_workspaces();

-- delete_workspace: a workspace with all that is in it; answers how many rows of each kind went
select everlore.delete_workspace(%(workspace_id)s);

-- embedding_progress: the embedding models, and how many threads and how much of what is distilled each still lacks
select name, dimensions, in_use, threads_behind, distilled_behind from everlore.embedding_progress();

-- use_embedding_model: switch the model that answers questions
select everlore.use_embedding_model(%(name)s);

-- version: of the server
show server_version;
