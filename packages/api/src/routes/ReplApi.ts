/** Sessions that evaluate inputs and keep their variables, on the node that opened them. */
import { ReplId } from "@weft/core/adapter"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { requires } from "../access/EndpointPermission.ts"
import { List, Single } from "../envelope/Envelope.ts"
import { BusyError, ContentDamagedError, NotFoundError, PlanRequiredError } from "../errors/ErrorSchemas.ts"
import {
  CompletionInputRecord,
  CompletionRecord,
  NewReplRecord,
  ReplInputRecord,
  ReplRecord,
  ReplResultRecord
} from "../records/ReplRecords.ts"
import { pathId } from "../records/Uuid.ts"
import { Authenticated, Permitted } from "./Authentication.ts"
import { extension, tag } from "./Documentation.ts"
import { pageQuery } from "./PageQuery.ts"

const params = { repl_id: pathId(ReplId) }
const permission = { type: "eval", action: "execute", on: "resource" } as const

export class ReplApi extends HttpApiGroup.make("repl")
  .add(
    HttpApiEndpoint.get("list", "/v1/repl", { query: pageQuery, success: List("ReplSessionList", ReplRecord) })
      .annotateMerge(extension("List the sessions of the credential on this node, oldest first"))
      .annotateMerge(requires(permission)),
    HttpApiEndpoint.post("open", "/v1/repl", {
      payload: NewReplRecord,
      success: Single("ReplSessionResponse", ReplRecord).pipe(HttpApiSchema.status(201)),
      error: [PlanRequiredError, NotFoundError, ContentDamagedError]
    })
      .annotateMerge(extension("Open a session that evaluates inputs and keeps their variables, on this node"))
      .annotateMerge(requires({ ...permission, audit: "repl.open" })),
    HttpApiEndpoint.post("input", "/v1/repl/:repl_id/input", {
      params,
      payload: ReplInputRecord,
      success: Single("ReplResultResponse", ReplResultRecord),
      error: [PlanRequiredError, NotFoundError, ContentDamagedError, BusyError]
    })
      .annotateMerge(extension("Evaluate an input; returns its result, log and usage"))
      .annotateMerge(requires({ ...permission, audit: "repl.input" })),
    HttpApiEndpoint.post("complete", "/v1/repl/:repl_id/complete", {
      params,
      payload: CompletionInputRecord,
      success: Single("ReplCompletionResponse", CompletionRecord),
      error: [PlanRequiredError, NotFoundError, BusyError]
    })
      .annotateMerge(extension("Complete the name or member before the cursor, without a call of code"))
      .annotateMerge(requires(permission)),
    HttpApiEndpoint.delete("close", "/v1/repl/:repl_id", {
      params,
      success: HttpApiSchema.NoContent,
      error: NotFoundError
    })
      .annotateMerge(extension("Close a session with its variables, also while it evaluates an input"))
      .annotateMerge(requires(permission))
  )
  .middleware(Permitted)
  .middleware(Authenticated)
  .annotateMerge(tag("REPL", "Sessions that evaluate inputs and keep their variables")) {}
