-- Fast on any size. What stops it is a long transaction that writes, so give up soon.
SET LOCAL lock_timeout = '5s';--> statement-breakpoint
CREATE TABLE "read_requests" (
	"message_id" uuid PRIMARY KEY NOT NULL,
	"message_at" timestamp with time zone NOT NULL,
	"device_id" integer NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "messages" ADD COLUMN "typing_seconds" smallint;--> statement-breakpoint
ALTER TABLE "read_requests" ADD CONSTRAINT "read_requests_device_id_devices_id_fk" FOREIGN KEY ("device_id") REFERENCES "public"."devices"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "read_requests_device" ON "read_requests" USING btree ("device_id");