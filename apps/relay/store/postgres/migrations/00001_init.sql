-- +goose Up
-- Times are Unix microseconds in UTC. Keys are the 32 raw bytes.
CREATE TABLE devices (
    id         TEXT PRIMARY KEY,
    sign_key   BYTEA NOT NULL,
    seal_key   BYTEA NOT NULL,
    label      TEXT NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE TABLE clients (
    id         TEXT PRIMARY KEY,
    sign_key   BYTEA NOT NULL,
    seal_key   BYTEA NOT NULL,
    label      TEXT NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE TABLE bindings (
    device_id  TEXT NOT NULL REFERENCES devices (id),
    client_id  TEXT NOT NULL REFERENCES clients (id),
    created_at BIGINT NOT NULL,
    revoked_at BIGINT,
    PRIMARY KEY (device_id, client_id)
);

CREATE INDEX bindings_by_client ON bindings (client_id);

CREATE TABLE audit (
    id        BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at        BIGINT NOT NULL,
    action    TEXT NOT NULL,
    device_id TEXT NOT NULL,
    client_id TEXT NOT NULL,
    actor_id  TEXT NOT NULL
);

CREATE INDEX audit_by_time ON audit (at, id);

-- +goose Down
DROP TABLE audit;
DROP TABLE bindings;
DROP TABLE clients;
DROP TABLE devices;
