"""All SQL, and the only importer of psycopg. Every query stands in sql/*.sql under a name, with a line of purpose."""
