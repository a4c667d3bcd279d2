-- Fast on any size. What stops it is a long transaction that writes, so give up soon.
SET LOCAL lock_timeout = '5s';--> statement-breakpoint
ALTER TABLE "devices" ADD COLUMN "pairing_step" text;--> statement-breakpoint
ALTER TABLE "devices" ADD CONSTRAINT "devices_pairing_step" CHECK ("devices"."pairing_step" IN ('passkey_required', 'passkey_confirmation_required'));