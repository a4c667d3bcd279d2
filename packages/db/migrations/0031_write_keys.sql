CREATE TABLE "write_keys" (
	"key" uuid PRIMARY KEY NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE INDEX "write_keys_age" ON "write_keys" USING btree ("created_at");