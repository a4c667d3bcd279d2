CREATE UNLOGGED TABLE "media_parts" (
	"upload_id" uuid NOT NULL,
	"position" integer NOT NULL,
	"account_id" integer NOT NULL,
	"bytes" "bytea" NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "media_parts_upload_id_position_pk" PRIMARY KEY("upload_id","position")
);
--> statement-breakpoint
CREATE INDEX "media_parts_created_at" ON "media_parts" USING btree ("created_at");
--> statement-breakpoint
-- Media are compressed already: trying it again would only cost time.
ALTER TABLE "media_parts" ALTER COLUMN "bytes" SET STORAGE EXTERNAL;
--> statement-breakpoint
ALTER TABLE "media_blobs" ALTER COLUMN "bytes" SET STORAGE EXTERNAL;
