-- What a store is on a PostgreSQL server. {schema} is put in by layout.py.

CREATE TABLE {schema}.store (
    layout int NOT NULL,
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    -- where this is a cell of another store: what it is called there, and that store's id
    cell text,
    cell_of uuid,
    -- added to transaction ids where they number positions; see by_transaction
    epoch bigint NOT NULL DEFAULT 0,
    by_transaction boolean NOT NULL DEFAULT false,
    made timestamptz NOT NULL DEFAULT now());
CREATE UNIQUE INDEX there_is_one_store ON {schema}.store ((true));
INSERT INTO {schema}.store (layout) VALUES ({layout});

-- names compare by code point, as everywhere else
CREATE TABLE {schema}.stored_events (
    position bigint PRIMARY KEY CHECK (position > 0),
    originator_id text COLLATE "C" NOT NULL,
    originator_version bigint NOT NULL CHECK (originator_version > 0),
    topic text COLLATE "C" NOT NULL,
    state bytea NOT NULL,
    UNIQUE (originator_id, originator_version));
CREATE INDEX stored_events_by_kind
    ON {schema}.stored_events (originator_id, topic, originator_version);
CREATE INDEX beginnings ON {schema}.stored_events (position, originator_id)
    WHERE originator_version = 1 OR topic = 'session.forked';
-- what minds and people say hardly shrinks further, and is read more often than it is written
ALTER TABLE {schema}.stored_events ALTER COLUMN state SET STORAGE EXTERNAL;
-- rows only come: without this, only a great many of them would bring the visibility map up to date
ALTER TABLE {schema}.stored_events SET (autovacuum_vacuum_insert_scale_factor = 0.02);

-- The newest mark tells whether a kept state may still hold what was redacted: see chain.py.
CREATE TABLE {schema}.redactions (position bigint PRIMARY KEY, mark bytea NOT NULL);

CREATE TABLE {schema}.aliases (
    stream text COLLATE "C" PRIMARY KEY, name text COLLATE "C" NOT NULL, parent text COLLATE "C");
CREATE INDEX aliases_by_name ON {schema}.aliases (name);

-- Other servers that hold sessions of this store, and which ones. What has no route is here.
CREATE TABLE {schema}.cells (
    name text COLLATE "C" PRIMARY KEY CHECK (name <> 'home'),
    address text NOT NULL, -- without a password
    made timestamptz NOT NULL DEFAULT now());
CREATE TABLE {schema}.routes (
    stream text COLLATE "C" PRIMARY KEY,
    cell text COLLATE "C" NOT NULL REFERENCES {schema}.cells);

-- Who may write. An advisory lock, since one on the table and its autovacuum would stop each other.
-- Taken shared, many may append at once, which they do where transactions number the positions.
CREATE FUNCTION {schema}.take_turn(alone boolean) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF alone THEN
        PERFORM pg_advisory_xact_lock(1280264015, '{schema}.stored_events'::regclass::oid::int);
    ELSE
        PERFORM pg_advisory_xact_lock_shared(1280264015, '{schema}.stored_events'::regclass::oid::int);
    END IF;
END $$;

-- The position below which nothing will ever appear any more, this one excluded.
CREATE FUNCTION {schema}.horizon() RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN by_transaction
        THEN (epoch + pg_snapshot_xmin(pg_current_snapshot())::text::bigint) << 22
        ELSE 9223372036854775807 END
    FROM {schema}.store $$;

-- The position behind which the next row of this transaction goes. Called by whoever has a turn.
CREATE FUNCTION {schema}.newest() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    base bigint := 0;
    top bigint;
BEGIN
    SELECT (epoch + pg_current_xact_id()::text::bigint) << 22 INTO base
        FROM {schema}.store WHERE by_transaction;
    SELECT max(position) INTO top FROM {schema}.stored_events
        WHERE position >= coalesce(base, 0)
        AND position < coalesce(base + (1 << 22) - 1, 9223372036854775807);
    RETURN coalesce(top, base, 0);
END $$;

-- Append rows, all or none, in one round trip; the position of the first. What they follow is known
-- by its hash: after a restore another event may have that version; and what it was decided on, by
-- the mark of the redactions.
CREATE FUNCTION {schema}.append(streams text[], versions bigint[], topics text[], states bytea[],
    behind bytea DEFAULT NULL, seen bytea DEFAULT NULL)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    together boolean := (SELECT by_transaction FROM {schema}.store);
    base bigint;
BEGIN
    PERFORM {schema}.take_turn(NOT together);
    IF together <> (SELECT by_transaction FROM {schema}.store) THEN
        RAISE EXCEPTION 'positions are numbered otherwise by now' USING ERRCODE = '40001';
    END IF;
    IF together THEN -- one stream's events stay in the order of their positions
        PERFORM pg_advisory_xact_lock(1280264016, hashtext('{schema}.' || stream))
            FROM (SELECT DISTINCT stream FROM unnest(streams) AS s (stream) ORDER BY 1) AS named;
    END IF;
    IF behind IS NOT NULL AND NOT EXISTS (SELECT 1 FROM {schema}.stored_events
        WHERE originator_id = streams[1] AND originator_version = versions[1] - 1
        AND substr(state, 1, length(behind)) = behind)
    THEN
        RAISE EXCEPTION 'what this follows is another by now' USING ERRCODE = 'LG002';
    END IF;
    IF seen <> coalesce((SELECT mark FROM {schema}.redactions ORDER BY position DESC LIMIT 1), '')
    THEN
        RAISE EXCEPTION 'something was redacted meanwhile' USING ERRCODE = 'LG002';
    END IF;
    base := {schema}.newest();
    INSERT INTO {schema}.stored_events
        SELECT base + place, stream, version, topic, state
        FROM unnest(streams, versions, topics, states) WITH ORDINALITY
            AS e (stream, version, topic, state, place);
    IF NOT together THEN -- many at once would wait for each other's notices
        PERFORM pg_notify('{schema}', (base + cardinality(streams))::text);
    END IF;
    RETURN base + 1;
END $$;

-- Let the session of a name be in a cell, once for all; the cell that it is in.
CREATE FUNCTION {schema}.reserve(name text, chosen text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM {schema}.take_turn(true); -- so that nobody begins it here meanwhile
    IF (SELECT position FROM {schema}.stored_events -- in an order, so that an index answers
        WHERE originator_id = name ORDER BY originator_version LIMIT 1) IS NOT NULL
    THEN
        RETURN 'home';
    END IF;
    INSERT INTO {schema}.routes VALUES (name, chosen) ON CONFLICT DO NOTHING;
    RETURN (SELECT cell FROM {schema}.routes WHERE stream = name);
END $$;

-- Guards: they hold for whoever writes, by whatever program. They name where what they call is
-- looked for, or whoever may only insert would have his own operators asked.

CREATE FUNCTION {schema}.refuse() RETURNS trigger LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'events never change and are never deleted' USING ERRCODE = 'LG001';
END $$;
CREATE TRIGGER events_never_go BEFORE DELETE ON {schema}.stored_events
    FOR EACH ROW EXECUTE FUNCTION {schema}.refuse();
CREATE TRIGGER events_are_never_emptied BEFORE TRUNCATE ON {schema}.stored_events
    FOR EACH STATEMENT EXECUTE FUNCTION {schema}.refuse();

-- The one change there is: what an event.redacted of the same transaction speaks of loses its
-- content. What stays is sealed by that event, which mind verify checks.
CREATE FUNCTION {schema}.only_content_goes() RETURNS trigger LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF current_setting('{schema}.redacting', true) IS DISTINCT FROM pg_current_xact_id()::text
        OR (NEW.position, NEW.originator_id, NEW.originator_version, NEW.topic)
            IS DISTINCT FROM (OLD.position, OLD.originator_id, OLD.originator_version, OLD.topic)
        OR substr(NEW.state, 1, 32) <> substr(OLD.state, 1, 32)
    THEN
        RAISE EXCEPTION 'events never change and are never deleted' USING ERRCODE = 'LG001';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER events_never_change BEFORE UPDATE ON {schema}.stored_events
    FOR EACH ROW EXECUTE FUNCTION {schema}.only_content_goes();

-- Redactions come alone, whoever numbers the positions: each finds the mark of the one before.
CREATE FUNCTION {schema}.mark_redaction() RETURNS trigger LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO {schema}.redactions SELECT NEW.position, sha256(
        coalesce((SELECT mark FROM {schema}.redactions ORDER BY position DESC LIMIT 1), '')
        || substr(NEW.state, 1, 32));
    RETURN NULL;
END $$;
CREATE TRIGGER redactions_are_marked AFTER INSERT ON {schema}.stored_events
    FOR EACH ROW WHEN (NEW.topic = 'event.redacted')
    EXECUTE FUNCTION {schema}.mark_redaction();

CREATE FUNCTION {schema}.wait_for_turn() RETURNS trigger LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM {schema}.take_turn(NOT by_transaction) FROM {schema}.store;
    RETURN NULL;
END $$;
CREATE TRIGGER one_after_the_other BEFORE INSERT ON {schema}.stored_events
    FOR EACH STATEMENT EXECUTE FUNCTION {schema}.wait_for_turn();

-- A stream grows by one from its beginning; a fork begins anywhere, but only once, and nothing is
-- below it; positions only grow.
CREATE FUNCTION {schema}.streams_grow_by_one() RETURNS trigger LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (
        SELECT 1 FROM fresh AS f WHERE CASE
            WHEN f.topic = 'session.forked' OR f.originator_version = 1 THEN
                (f.topic = 'session.forked' AND f.originator_version = 1)
                OR EXISTS (SELECT 1 FROM {schema}.routes WHERE stream = f.originator_id)
                -- whatever is older is at one end of the stream: asked for in an order, an index
                -- answers, where EXISTS would have the table walked to find that there is nothing
                OR f.position > (SELECT e.position FROM {schema}.stored_events AS e
                    WHERE e.originator_id = f.originator_id ORDER BY e.originator_version LIMIT 1)
                OR f.position > (SELECT e.position FROM {schema}.stored_events AS e
                    WHERE e.originator_id = f.originator_id
                    ORDER BY e.originator_version DESC LIMIT 1)
            ELSE NOT EXISTS (SELECT 1 FROM {schema}.stored_events AS e
                WHERE e.originator_id = f.originator_id
                AND e.originator_version = f.originator_version - 1 AND e.position < f.position)
            END)
    THEN
        RAISE EXCEPTION 'a stream grows by one, from its beginning' USING ERRCODE = 'LG002';
    END IF;
    IF (CASE WHEN (SELECT by_transaction FROM {schema}.store) THEN
        -- between those of the transactions before and behind this one
        EXISTS (SELECT 1 FROM fresh, {schema}.store
            WHERE position >> 22 <> epoch + pg_current_xact_id()::text::bigint)
        -- the newest of all others; asked so that the index answers, also where the planner knows
        -- no numbers of a young table yet
        ELSE (SELECT min(position) FROM fresh) <= (SELECT position FROM {schema}.stored_events
            ORDER BY position DESC OFFSET (SELECT count(*) FROM fresh) LIMIT 1) END)
    THEN
        RAISE EXCEPTION 'positions only grow' USING ERRCODE = 'LG002';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER streams_grow_by_one AFTER INSERT ON {schema}.stored_events
    REFERENCING NEW TABLE AS fresh
    FOR EACH STATEMENT EXECUTE FUNCTION {schema}.streams_grow_by_one();
