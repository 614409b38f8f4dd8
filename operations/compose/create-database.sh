#!/bin/sh
# Runs once, when PostgreSQL's volume is new: Payhook's role owns its database and is not a superuser.
set -eu
psql --set ON_ERROR_STOP=1 --set password="$(cat /run/secrets/database-password)" --username postgres <<'SQL'
create role payhook login password :'password';
create database payhook owner payhook encoding 'UTF8' template template0;
SQL
