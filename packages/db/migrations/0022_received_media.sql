-- Fast on any size. What stops it is a long transaction that writes, so give up soon.
SET LOCAL lock_timeout = '5s';--> statement-breakpoint
CREATE TABLE "received_media" (
	"message_id" uuid PRIMARY KEY NOT NULL,
	"account_id" integer NOT NULL,
	"device_id" integer NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"state" text NOT NULL,
	"reason" text,
	"mime" text,
	"declared_mime" text,
	"filename" text,
	"size" bigint,
	"sha256" "bytea",
	"sealed" "bytea",
	"attempts" smallint DEFAULT 0 NOT NULL,
	"next_attempt_at" timestamp with time zone,
	CONSTRAINT "received_media_state" CHECK ("received_media"."state" IN ('pending', 'stored', 'unavailable')),
	CONSTRAINT "received_media_sealed" CHECK (("received_media"."sealed" IS NOT NULL) = ("received_media"."state" = 'pending'))
);
--> statement-breakpoint
CREATE INDEX "received_media_created_at" ON "received_media" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "received_media_due" ON "received_media" USING btree ("device_id","next_attempt_at") WHERE "received_media"."state" = 'pending';--> statement-breakpoint
CREATE INDEX "received_media_content" ON "received_media" USING btree ("account_id","sha256","size") WHERE "received_media"."state" <> 'unavailable';--> statement-breakpoint
CREATE INDEX "received_media_kept" ON "received_media" USING btree ("created_at") WHERE "received_media"."state" <> 'unavailable';--> statement-breakpoint
ALTER TABLE "installation" ADD COLUMN "media_link_key" "bytea";--> statement-breakpoint
ALTER TABLE "installation" ALTER COLUMN "media_link_key" SET DEFAULT decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex');--> statement-breakpoint
UPDATE "installation" SET "media_link_key" = DEFAULT;
