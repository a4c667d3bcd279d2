-- Fast on any size. What stops it is a long transaction that writes, so give up soon.
SET LOCAL lock_timeout = '5s';--> statement-breakpoint
CREATE TABLE "new_contacts" (
	"device_id" integer NOT NULL,
	"number" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "new_contacts_pk" PRIMARY KEY("device_id","number")
);
--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "new_contacts_per_day" integer;--> statement-breakpoint
ALTER TABLE "devices" ADD COLUMN "warm_up_from" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "devices" ADD COLUMN "unlinked_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "devices" ADD COLUMN "new_contacts_per_day" integer;--> statement-breakpoint
ALTER TABLE "new_contacts" ADD CONSTRAINT "new_contacts_device_id_devices_id_fk" FOREIGN KEY ("device_id") REFERENCES "public"."devices"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "new_contacts_created_at" ON "new_contacts" USING btree ("created_at");