/** Envelope of the steps of a run, with what the run waits for. */
import { Schema, SchemaTransformation } from "effect"
import { RunStepRecord, RunWaitRecord } from "../records/WorkflowRecords.ts"
import { Meta, meta, Pagination } from "./Envelope.ts"

const page = { total: Schema.Int, limit: Schema.Int, offset: Schema.Int }

/** Schema of `{ data, waits, pagination, meta }` on the wire, and a `Listing` with waits in code. */
export const StepList = Schema.Struct({
  data: Schema.Array(RunStepRecord),
  waits: Schema.Array(RunWaitRecord).annotate({
    description: "Open waits of the run, in the order in which they began; at most 100"
  }),
  pagination: Pagination,
  meta: Meta
})
  .annotate({ identifier: "RunStepList" })
  .pipe(
    Schema.decodeTo(
      Schema.Struct({
        items: Schema.Array(Schema.toType(RunStepRecord)),
        waits: Schema.Array(Schema.toType(RunWaitRecord)),
        ...page
      }),
      SchemaTransformation.transform({
        decode: ({ data, waits, pagination: { total, limit, offset } }) => ({
          items: data,
          waits,
          total,
          limit,
          offset
        }),
        encode: ({ items, waits, ...rest }) => ({
          data: items,
          waits,
          pagination: { ...rest, has_more: rest.offset + items.length < rest.total },
          meta: meta()
        })
      })
    )
  )
