"""The database: tables, migrations, audit."""
