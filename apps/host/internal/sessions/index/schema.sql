-- record is JSON: all that a list shows, and what is needed to go on reading.
CREATE TABLE sessions (
    id       TEXT PRIMARY KEY,
    project  TEXT NOT NULL,
    updated  INTEGER NOT NULL, -- Unix milliseconds
    revision TEXT NOT NULL,
    mark     TEXT NOT NULL,
    record   TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX sessions_by_time ON sessions (updated, id);
CREATE INDEX sessions_by_project ON sessions (project, updated, id);

-- id grows with the time of the entry, so that the newest are found first.
CREATE TABLE entries (
    id      INTEGER PRIMARY KEY,
    session TEXT NOT NULL,
    entry   TEXT NOT NULL,
    seq     INTEGER NOT NULL,
    role    TEXT NOT NULL,
    at      INTEGER NOT NULL, -- Unix milliseconds
    scope   TEXT NOT NULL,
    text    TEXT NOT NULL
);
CREATE INDEX entries_by_session ON entries (session);

-- scope holds the project and the role as words, so that a search in one project
-- does not pass over the hits in all others.
CREATE VIRTUAL TABLE words USING fts5 (
    text, scope, content = 'entries', content_rowid = 'id', prefix = '2 3',
    tokenize = 'unicode61 remove_diacritics 2'
);
