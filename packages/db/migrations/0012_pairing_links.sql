SET LOCAL lock_timeout = '5s';--> statement-breakpoint
CREATE TABLE "pairing_links" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "pairing_links_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"account_id" integer NOT NULL,
	"device_id" integer NOT NULL,
	"key_id" integer NOT NULL,
	"link_hash" "bytea" NOT NULL,
	"session_hash" "bytea",
	"expires_at" timestamp with time zone NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "pairing_links_link_hash" UNIQUE("link_hash"),
	CONSTRAINT "pairing_links_session_hash" UNIQUE("session_hash")
);
--> statement-breakpoint
ALTER TABLE "pairing_links" ADD CONSTRAINT "pairing_links_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "pairing_links" ADD CONSTRAINT "pairing_links_device_id_devices_id_fk" FOREIGN KEY ("device_id") REFERENCES "public"."devices"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "pairing_links" ADD CONSTRAINT "pairing_links_key_id_api_keys_id_fk" FOREIGN KEY ("key_id") REFERENCES "public"."api_keys"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "pairing_links_device" ON "pairing_links" USING btree ("device_id");--> statement-breakpoint
CREATE INDEX "pairing_links_created_at" ON "pairing_links" USING btree ("created_at");
