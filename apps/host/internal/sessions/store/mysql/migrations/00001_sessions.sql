-- A statement of MySQL that makes a table cannot be undone, so each may be repeated.
-- Texts that must be told apart byte by byte are binary: collations fold case, or
-- pass over spaces at the end.

-- +goose Up
CREATE TABLE IF NOT EXISTS scorel_sessions (
    id          VARBINARY(128) NOT NULL PRIMARY KEY,
    project_id  VARBINARY(128) NOT NULL,
    header      LONGBLOB NOT NULL COMMENT 'the header line as it is',
    entry_count BIGINT NOT NULL COMMENT 'lines behind the header',
    created_at  BIGINT NOT NULL COMMENT 'Unix microseconds',
    modified_at BIGINT NOT NULL,
    lease       VARBINARY(64) NOT NULL COMMENT 'random, of who may write; empty for nobody',
    holder      BLOB NOT NULL COMMENT 'JSON, who that is'
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

CREATE TABLE IF NOT EXISTS scorel_entries (
    session_id VARBINARY(128) NOT NULL,
    entry_seq  BIGINT NOT NULL COMMENT 'which line it is, from 1',
    entry_id   VARBINARY(512) NULL,
    parent_id  VARBINARY(512) NULL,
    type       VARBINARY(128) NOT NULL,
    line       LONGBLOB NOT NULL COMMENT 'the line as it is; the columns before it are made from it',
    PRIMARY KEY (session_id, entry_seq),
    UNIQUE KEY scorel_entries_by_id (session_id, entry_id),
    CONSTRAINT scorel_entries_session FOREIGN KEY (session_id) REFERENCES scorel_sessions (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

-- +goose Down
DROP TABLE scorel_entries;
DROP TABLE scorel_sessions;
