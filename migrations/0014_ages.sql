-- What is deleted by its age is found by it.
create index oauth_codes_age on oauth_codes (expires_at);
create index sessions_age on sessions (expires_at);
create index sessions_revoked on sessions (revoked_at) where revoked_at is not null;
create index user_links_age on user_links (expires_at);
