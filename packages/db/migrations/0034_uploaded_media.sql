SET LOCAL lock_timeout = '5s';--> statement-breakpoint
CREATE TABLE "uploaded_media" (
	"media_id" uuid PRIMARY KEY NOT NULL,
	"account_id" integer NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"stored_at" timestamp with time zone,
	"mime" text NOT NULL,
	"filename" text,
	"size" bigint NOT NULL,
	"sha256" "bytea" NOT NULL
);
--> statement-breakpoint
CREATE INDEX "uploaded_media_account" ON "uploaded_media" USING btree ("account_id","expires_at");--> statement-breakpoint
CREATE INDEX "uploaded_media_expires_at" ON "uploaded_media" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "uploaded_media_unfinished" ON "uploaded_media" USING btree ("created_at") WHERE "uploaded_media"."stored_at" IS NULL;