-- +goose Up
-- The audit is read by time: events of another store can be merged in later.
CREATE INDEX audit_by_time ON audit (at, id);

-- +goose Down
DROP INDEX audit_by_time;
