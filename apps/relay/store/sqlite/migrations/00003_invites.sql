-- +goose Up
-- Of an invite's code only the SHA-256 is kept. Each newcomer takes one use.
CREATE TABLE invites (
    id         TEXT PRIMARY KEY,
    hash       BLOB NOT NULL UNIQUE,
    uses       BIGINT NOT NULL,
    used       BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    revoked_at BIGINT
) WITHOUT ROWID;

-- +goose Down
DROP TABLE invites;
