-- Fast on any size. What stops it is a long transaction that writes, so give up soon.
SET LOCAL lock_timeout = '5s';--> statement-breakpoint
ALTER TABLE "devices" ADD COLUMN "removed_at" timestamp with time zone;--> statement-breakpoint
CREATE INDEX "devices_former" ON "devices" USING btree ("account_id","sender") WHERE "devices"."deleted_at" IS NOT NULL;