/** Envelope of the list of files, whose pagination is in `meta`, unlike that of other lists. */
import { Schema, SchemaTransformation, Struct } from "effect"
import { FileRecord } from "../records/FileRecords.ts"
import { Meta, meta, Pagination } from "./Envelope.ts"

const page = { total: Schema.Int, limit: Schema.Int, offset: Schema.Int }

/** Schema of `{ data, meta }` on the wire, and a `Listing` in code. */
export const FileList = Schema.Struct({
  data: Schema.Array(FileRecord),
  meta: Schema.Struct({ ...Struct.pick(Pagination.fields, ["total", "limit", "offset"]), ...Meta.fields }).annotate({
    identifier: "FileListMeta"
  })
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
