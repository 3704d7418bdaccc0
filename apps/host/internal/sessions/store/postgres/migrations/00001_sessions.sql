-- +goose Up
CREATE TABLE scorel_sessions (
    id          text COLLATE "C" PRIMARY KEY,
    project_id  text COLLATE "C" NOT NULL,
    header      bytea  NOT NULL, -- the header line as it is
    entry_count bigint NOT NULL, -- lines behind the header
    created_at  bigint NOT NULL, -- Unix microseconds
    modified_at bigint NOT NULL,
    lease       text   NOT NULL, -- random, of who may write; '' for nobody
    holder      text   NOT NULL  -- JSON, who that is
);

CREATE TABLE scorel_entries (
    session_id text COLLATE "C" NOT NULL REFERENCES scorel_sessions ON DELETE CASCADE,
    entry_seq  bigint NOT NULL, -- which line it is, from 1
    entry_id   text COLLATE "C",
    parent_id  text COLLATE "C",
    type       text COLLATE "C" NOT NULL,
    line       bytea NOT NULL, -- the line as it is; the columns before it are made from it
    PRIMARY KEY (session_id, entry_seq),
    UNIQUE (session_id, entry_id)
);

-- +goose Down
DROP TABLE scorel_entries;
DROP TABLE scorel_sessions;
