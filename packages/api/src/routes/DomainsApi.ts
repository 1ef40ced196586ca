/** Custom domains: host names of tenants for their webhooks. */
import { DomainId } from "@weft/core/adapter"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { requires } from "../access/EndpointPermission.ts"
import { List, Single } from "../envelope/Envelope.ts"
import { DomainExistsError, DomainLimitReachedError, NotFoundError, PlanRequiredError } from "../errors/ErrorSchemas.ts"
import { DomainRecord, VerificationRecord } from "../records/DomainRecords.ts"
import { pathId } from "../records/Uuid.ts"
import { Authenticated, Permitted } from "./Authentication.ts"
import { summary, tag } from "./Documentation.ts"
import { optionalPageQuery } from "./PageQuery.ts"

const domainParams = { domain_id: pathId(DomainId) }

const DomainResponse = Single("DomainResponse", DomainRecord)

const DomainInput = Schema.Struct({
  domain: Schema.String.annotate({
    description: "A host name of at least two labels and at most 237 characters; other scripts become A-labels",
    examples: ["hooks.example.com"]
  })
}).annotate({ identifier: "DomainInput" })

export class DomainsApi extends HttpApiGroup.make("domains")
  .add(
    HttpApiEndpoint.get("list", "/v1/domains", {
      query: optionalPageQuery,
      success: List("DomainList", DomainRecord)
    })
      .annotateMerge(summary("List the custom domains of the environment, newest first; all of them by default"))
      .annotateMerge(requires({ type: "domain", action: "read", on: "resource" })),
    HttpApiEndpoint.post("add", "/v1/domains", {
      payload: DomainInput,
      success: DomainResponse.pipe(HttpApiSchema.status(201)),
      error: [PlanRequiredError, DomainLimitReachedError, DomainExistsError]
    })
      .annotateMerge(summary("Register a custom domain"))
      .annotateMerge(requires({ type: "domain", action: "create", on: "resource", audit: "domain.add" })),
    HttpApiEndpoint.get("get", "/v1/domains/:domain_id", {
      params: domainParams,
      success: DomainResponse,
      error: NotFoundError
    })
      .annotateMerge(summary("Get a custom domain"))
      .annotateMerge(requires({ type: "domain", action: "read", on: "resource" })),
    HttpApiEndpoint.post("verify", "/v1/domains/:domain_id/verify", {
      params: domainParams,
      success: Single("DomainVerificationResponse", VerificationRecord),
      error: NotFoundError
    })
      .annotateMerge(summary("Check now if a custom domain can be validated"))
      .annotateMerge(requires({ type: "domain", action: "update", on: "resource" })),
    HttpApiEndpoint.delete("remove", "/v1/domains/:domain_id", {
      params: domainParams,
      success: HttpApiSchema.NoContent,
      error: NotFoundError
    })
      .annotateMerge(
        summary("Delete a custom domain; stops its routing at once, and removes its resources in the background")
      )
      .annotateMerge(requires({ type: "domain", action: "delete", on: "resource", audit: "domain.remove" }))
  )
  .middleware(Permitted)
  .middleware(Authenticated)
  .annotateMerge(tag("Custom domains", "Host names of tenants for webhooks")) {}
