-- Room on every page: a row is updated all day, and no index needs to know.
CREATE TABLE "message_counts" (
	"day" date NOT NULL,
	"account_id" integer NOT NULL,
	"sender" text NOT NULL,
	"error_code" text NOT NULL,
	"sent" integer NOT NULL,
	"delivered" integer NOT NULL,
	"read" integer NOT NULL,
	"failed" integer NOT NULL,
	"received" integer NOT NULL,
	CONSTRAINT "message_counts_pk" PRIMARY KEY("day","account_id","sender","error_code")
) WITH (fillfactor = 70);