/** Custom domains: tenants' own host names for their webhooks. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { List, Single } from "../envelope/Envelope.ts"
import { DomainExistsError, DomainLimitReachedError, NotFoundError, PlanRequiredError } from "../errors/ErrorSchemas.ts"
import { DomainRecord, VerificationRecord } from "../records/DomainRecords.ts"
import { Authenticated, Permitted } from "./Authentication.ts"
import { summary, tag } from "./Documentation.ts"
import { pageQuery } from "./PageQuery.ts"

const domainParams = { domain_id: Schema.String }

const DomainResponse = Single("DomainResponse", DomainRecord)

const DomainInput = Schema.Struct({
  domain: Schema.String.annotate({
    description: "A host name of at least two labels and at most 237 characters; other scripts become A-labels"
  })
}).annotate({ identifier: "DomainInput" })

export class DomainsApi extends HttpApiGroup.make("domains")
  .add(
    HttpApiEndpoint.get("list", "/v1/domains", {
      query: pageQuery,
      success: List("DomainList", DomainRecord)
    }).annotateMerge(
      summary("List the custom domains of the environment, newest first; all of them where nothing else is asked for")
    ),
    HttpApiEndpoint.post("add", "/v1/domains", {
      payload: DomainInput,
      success: DomainResponse.pipe(HttpApiSchema.status(201)),
      error: [PlanRequiredError, DomainLimitReachedError, DomainExistsError]
    }).annotateMerge(summary("Register a custom domain")),
    HttpApiEndpoint.get("get", "/v1/domains/:domain_id", {
      params: domainParams,
      success: DomainResponse,
      error: NotFoundError
    }).annotateMerge(summary("Get a custom domain")),
    HttpApiEndpoint.post("verify", "/v1/domains/:domain_id/verify", {
      params: domainParams,
      success: Single("DomainVerificationResponse", VerificationRecord),
      error: NotFoundError
    }).annotateMerge(summary("Look whether a custom domain can be validated now")),
    HttpApiEndpoint.delete("remove", "/v1/domains/:domain_id", {
      params: domainParams,
      success: HttpApiSchema.NoContent,
      error: NotFoundError
    }).annotateMerge(summary("Delete a custom domain: not routed from now on, cleaned up in the background"))
  )
  .middleware(Permitted)
  .middleware(Authenticated)
  .annotateMerge(tag("Custom domains", "Tenants' own host names for webhooks")) {}
