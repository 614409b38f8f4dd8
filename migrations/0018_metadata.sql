-- A merchant's own keys and texts are an object, always: as they are of webhook endpoints.
update affiliates set metadata = '{}' where metadata is null;
update affiliate_programs set metadata = '{}' where metadata is null;
update payouts set metadata = '{}' where metadata is null;
alter table affiliates alter column metadata set default '{}', alter column metadata set not null;
alter table affiliate_programs alter column metadata set default '{}', alter column metadata set not null;
alter table payouts alter column metadata set default '{}', alter column metadata set not null;
