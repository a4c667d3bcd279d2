-- Fast on any size. What stops it is a long transaction that writes, so give up soon.
SET LOCAL lock_timeout = '5s';--> statement-breakpoint
CREATE TABLE "device_proxies" (
	"device_id" integer PRIMARY KEY NOT NULL,
	"shown" text NOT NULL,
	"sealed" "bytea" NOT NULL
);
--> statement-breakpoint
ALTER TABLE "master_keys" ADD COLUMN "proxy_public_key" "bytea";--> statement-breakpoint
ALTER TABLE "device_proxies" ADD CONSTRAINT "device_proxies_device_id_devices_id_fk" FOREIGN KEY ("device_id") REFERENCES "public"."devices"("id") ON DELETE cascade ON UPDATE no action;