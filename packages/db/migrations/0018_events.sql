-- Fast on any size. What stops it is a long transaction that writes, so give up soon.
SET LOCAL lock_timeout = '5s';--> statement-breakpoint
CREATE SEQUENCE "events_seq" AS bigint CACHE 1;--> statement-breakpoint
CREATE TABLE "events" (
	"account_id" integer NOT NULL,
	"device_id" integer,
	"epoch" integer DEFAULT 0 NOT NULL,
	"tx" "xid8" DEFAULT pg_current_xact_id() NOT NULL,
	"id" bigint DEFAULT nextval('events_seq') NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"at" timestamp with time zone,
	"message_id" uuid,
	"type" smallint NOT NULL,
	"data" jsonb
) PARTITION BY RANGE ("created_at");
--> statement-breakpoint
CREATE INDEX "events_stream" ON "events" USING btree ("account_id","epoch","tx","id");--> statement-breakpoint
ALTER TABLE "installation" ADD COLUMN "event_server" text, ADD COLUMN "event_epoch" integer DEFAULT 0 NOT NULL;
