-- Fast on any size. What stops it is a long transaction that writes, so give up soon.
SET LOCAL lock_timeout = '5s';--> statement-breakpoint
-- Postgres empties it whenever it recovers from a crash. A standby and a base backup have none of its rows.
CREATE UNLOGGED TABLE "event_clock" (
	"epoch" integer NOT NULL,
	"started_at" timestamp with time zone NOT NULL,
	"since" timestamp with time zone NOT NULL,
	"until" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "event_epochs" (
	"epoch" integer PRIMARY KEY NOT NULL,
	"since" timestamp with time zone NOT NULL,
	"until" timestamp with time zone NOT NULL,
	"is_steady" boolean DEFAULT true NOT NULL
);
--> statement-breakpoint
-- What clocks did in earlier epochs is not known.
INSERT INTO "event_epochs" ("epoch", "since", "until", "is_steady")
SELECT "event_epoch", 'epoch', 'infinity', false FROM "installation";
--> statement-breakpoint
-- Until the rights of all roles are granted, processes of the version before insert events.
GRANT SELECT ON "event_clock", "event_epochs" TO PUBLIC;
--> statement-breakpoint
CREATE FUNCTION "renew_event_epoch"() RETURNS integer LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
	present event_clock;
	-- When this transaction began, which its events record, and now.
	earlier timestamptz := least(now(), clock_timestamp());
	later timestamptz := greatest(now(), clock_timestamp());
	present_since timestamptz := earlier - interval '6 hours';
	present_until timestamptz := later + interval '12 hours';
BEGIN
	SELECT * INTO present FROM event_clock WHERE started_at = pg_postmaster_start_time();
	IF FOUND AND earlier >= present.since AND later < present.until THEN
		-- Hours are left, so only the first one renews, and none waits for it.
		PERFORM FROM installation FOR UPDATE SKIP LOCKED;
		IF NOT FOUND THEN RETURN present.epoch; END IF;
	ELSE
		PERFORM FROM installation FOR UPDATE;
	END IF;
	-- Another transaction may have renewed it meanwhile.
	SELECT * INTO present FROM event_clock WHERE started_at = pg_postmaster_start_time();
	IF FOUND THEN
		UPDATE event_epochs SET since = least(since, present_since), until = greatest(until, present_until),
			is_steady = is_steady AND earlier >= present.since AND (
				-- After hours without an event, or the clock has jumped. Then a transaction from before may still record one.
				later < present.until OR NOT EXISTS (
					SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = database
					WHERE datname = current_database() AND relation = 'events'::regclass AND mode = 'RowExclusiveLock'
						AND pid <> pg_backend_pid()))
		WHERE epoch = present.epoch;
		UPDATE event_clock SET since = present_since, until = present_until;
		RETURN present.epoch;
	END IF;
	-- A crash must not take back an epoch that readers have seen.
	IF current_setting('synchronous_commit') = 'off' THEN PERFORM set_config('synchronous_commit', 'on', true); END IF;
	-- A copy may be older than the last epoch that readers have seen. The time is not.
	UPDATE installation SET event_epoch = greatest(event_epoch + 1, extract(epoch FROM clock_timestamp())::int)
	RETURNING event_epoch INTO present.epoch;
	INSERT INTO event_epochs (epoch, since, until) VALUES (present.epoch, present_since, present_until);
	DELETE FROM event_clock;
	INSERT INTO event_clock (epoch, started_at, since, until)
	VALUES (present.epoch, pg_postmaster_start_time(), present_since, present_until);
	RETURN present.epoch;
END $$;
--> statement-breakpoint
-- For each event, so it does no more than it must.
CREATE FUNCTION "event_epoch"() RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
	present integer;
BEGIN
	SELECT epoch INTO present FROM event_clock
	WHERE started_at = pg_postmaster_start_time() AND least(now(), clock_timestamp()) >= since
		AND greatest(now(), clock_timestamp()) < until - interval '6 hours';
	RETURN coalesce(present, renew_event_epoch());
END $$;
--> statement-breakpoint
ALTER TABLE "events" ALTER COLUMN "epoch" SET DEFAULT event_epoch();
