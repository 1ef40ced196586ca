/** The envelope of the list of files, which has its own shape: the page stands in `meta`. */
import { Schema, SchemaTransformation } from "effect"
import { FileRecord } from "../records/FileRecords.ts"
import { Meta, meta } from "./Envelope.ts"

const page = { total: Schema.Int, limit: Schema.Int, offset: Schema.Int }

/** `{ data, meta }` on the wire, a `Listing` in code. */
export const FileList = Schema.Struct({
  data: Schema.Array(FileRecord),
  meta: Schema.Struct({ ...page, ...Meta.fields }).annotate({ identifier: "FileListMeta" })
})
  .annotate({ identifier: "FileList" })
  .pipe(
    Schema.decodeTo(
      Schema.Struct({ items: Schema.Array(Schema.toType(FileRecord)), ...page }),
      SchemaTransformation.transform({
        decode: ({ data, meta: { total, limit, offset } }) => ({ items: data, total, limit, offset }),
        encode: ({ items, ...rest }) => ({ data: items, meta: { ...rest, ...meta() } })
      })
    )
  )
