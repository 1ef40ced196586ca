/** Builds: upload, read, download and deploy, and the triggers of the deployed build. */
import { BuildId } from "@weft/core/adapter"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { requires } from "../access/EndpointPermission.ts"
import { List, Single } from "../envelope/Envelope.ts"
import {
  CanaryActiveError,
  ContentDamagedError,
  DeploymentRefusedError,
  NotFoundError,
  PlanRequiredError
} from "../errors/ErrorSchemas.ts"
import { DeployInput } from "../records/CanaryRecords.ts"
import { BuildCapabilitiesRecord } from "../records/CapabilityRecords.ts"
import { BuildManifestRecord } from "../records/ManifestRecords.ts"
import {
  BuildRecord,
  EventHandlerRecord,
  NamedBuildRecord,
  ScheduleRecord,
  UploadedBuildRecord
} from "../records/Records.ts"
import { pathId, sentId } from "../records/Uuid.ts"
import { Authenticated, Permitted } from "./Authentication.ts"
import { callFields, startedRunResponses } from "./CallsApi.ts"
import { extension, summary, tag } from "./Documentation.ts"
import { pageQuery } from "./PageQuery.ts"
import { projectParams } from "./ProjectsApi.ts"

const buildParams = { ...projectParams, build_id: pathId(BuildId) }

const BuildResponse = Single("BuildResponse", BuildRecord)
const ManifestResponse = Single("BuildManifestResponse", BuildManifestRecord)
const CapabilitiesResponse = Single("BuildCapabilitiesResponse", BuildCapabilitiesRecord)
const UploadResponse = Single("UploadResponse", UploadedBuildRecord)

/** Fields of the upload form other than the file. */
export const UploadFields = Schema.Struct({
  hash: Schema.String.check(Schema.isPattern(/^[0-9a-fA-F]{64}$/, { message: "must be a SHA-256 in hex" })).annotate({
    description: "SHA-256 of the file in hex",
    examples: ["9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"]
  }),
  build_id: Schema.optionalKey(
    sentId(BuildId).annotate({
      description: "Makes the upload idempotent: a second one with this id returns 200"
    })
  ),
  build_type: Schema.optionalKey(
    Schema.Literals(["bundle", "live"]).annotate({
      message: "must be bundle or live",
      description: "`live` makes it the live build of the project, which is active at once; `bundle` by default"
    })
  )
})

/** `multipart/form-data`, read as a stream. The server limits its size. */
const UploadForm = Schema.Struct({
  file: Schema.String.annotate({ format: "binary", description: "The zip of the build" }),
  ...UploadFields.fields
})
  .annotate({ identifier: "BuildUpload" })
  .pipe(HttpApiSchema.asMultipartStream())

const BuildRunInput = Schema.Struct({
  fn: Schema.String.annotate({ description: "A function of the build, `ns/var`", examples: ["main/add"] }),
  ...callFields
}).annotate({ identifier: "BuildRunInput" })

export class BuildsApi extends HttpApiGroup.make("builds")
  .add(
    HttpApiEndpoint.get("listAll", "/v1/builds", {
      query: pageQuery,
      success: List("BuildWithProjectNameList", NamedBuildRecord)
    })
      .annotateMerge(summary("List the builds of all projects, newest first"))
      .annotateMerge(requires({ type: "build", action: "read", on: "resource" })),
    HttpApiEndpoint.get("list", "/v1/projects/:project_id_or_slug/builds", {
      params: projectParams,
      query: pageQuery,
      success: List("BuildList", BuildRecord),
      error: NotFoundError
    })
      .annotateMerge(summary("List the builds of a project, newest first"))
      .annotateMerge(requires({ type: "build", action: "read", on: "project" })),
    HttpApiEndpoint.post("upload", "/v1/projects/:project_id_or_slug/builds", {
      params: projectParams,
      payload: UploadForm,
      success: [
        UploadResponse.pipe(HttpApiSchema.status(201)),
        HttpApiSchema.WithHeaders(UploadResponse, { "x-build-exists": Schema.Literal("true") })
      ],
      error: [NotFoundError, PlanRequiredError, DeploymentRefusedError]
    })
      .annotateMerge(summary("Upload a build"))
      .annotateMerge(requires({ type: "build", action: "create", or: "execute", on: "project" })),
    HttpApiEndpoint.get("deployed", "/v1/projects/:project_id_or_slug/builds/deployed", {
      params: projectParams,
      success: BuildResponse,
      error: NotFoundError
    })
      .annotateMerge(summary("Get the deployed build"))
      .annotateMerge(requires({ type: "build", action: "read", on: "project" })),
    HttpApiEndpoint.get("live", "/v1/projects/:project_id_or_slug/builds/live", {
      params: projectParams,
      success: BuildResponse,
      error: NotFoundError
    })
      .annotateMerge(summary("Get the live (development) build"))
      .annotateMerge(requires({ type: "build", action: "read", on: "project" })),
    HttpApiEndpoint.delete("endLive", "/v1/projects/:project_id_or_slug/builds/live", {
      params: projectParams,
      success: HttpApiSchema.NoContent,
      error: NotFoundError
    })
      .annotateMerge(extension("End the live build, so that the deployed build is active again"))
      .annotateMerge(requires({ type: "build", action: "execute", on: "project", audit: "build.end_live" })),
    HttpApiEndpoint.get("get", "/v1/projects/:project_id_or_slug/builds/:build_id", {
      params: buildParams,
      success: BuildResponse,
      error: NotFoundError
    })
      .annotateMerge(summary("Get a build"))
      .annotateMerge(requires({ type: "build", action: "read", on: "project" })),
    HttpApiEndpoint.get("manifest", "/v1/projects/:project_id_or_slug/builds/:build_id/manifest", {
      params: buildParams,
      success: ManifestResponse,
      error: [NotFoundError, ContentDamagedError]
    })
      .annotateMerge(extension("List what a build declares; a build that is not active is loaded in a sandbox"))
      .annotateMerge(requires({ type: "build", action: "read", on: "project" })),
    HttpApiEndpoint.get("capabilities", "/v1/projects/:project_id_or_slug/builds/:build_id/capabilities", {
      params: buildParams,
      query: {
        compare: Schema.optionalKey(
          Schema.Literals(["deployed"]).annotate({ description: "Also returns the difference to the deployed build" })
        )
      },
      success: CapabilitiesResponse,
      error: [NotFoundError, ContentDamagedError]
    })
      .annotateMerge(extension("List what a build uses and declares, and what a deployment would add"))
      .annotateMerge(requires({ type: "build", action: "read", on: "project" })),
    HttpApiEndpoint.get("download", "/v1/projects/:project_id_or_slug/builds/:build_id/download", {
      params: buildParams,
      success: Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array({ contentType: "application/zip" })),
      error: [NotFoundError, ContentDamagedError]
    })
      .annotateMerge(summary("Download the zip of a build"))
      .annotateMerge(requires({ type: "build", action: "read", on: "project" })),
    HttpApiEndpoint.post("deploy", "/v1/projects/:project_id_or_slug/builds/:build_id/deploy", {
      params: buildParams,
      // The body may be empty.
      payload: [DeployInput, HttpApiSchema.NoContent],
      success: BuildResponse,
      error: [NotFoundError, PlanRequiredError, CanaryActiveError, DeploymentRefusedError, ContentDamagedError]
    })
      .annotateMerge(summary("Deploy a build, or give it a share of the events and calls as a canary"))
      .annotateMerge(requires({ type: "build", action: "execute", on: "project", audit: "build.deploy" })),
    HttpApiEndpoint.post("release", "/v1/projects/:project_id_or_slug/builds/:build_id/release", {
      params: buildParams,
      success: HttpApiSchema.NoContent,
      error: NotFoundError
    })
      .annotateMerge(extension("Release a build from quarantine, so that it runs again"))
      .annotateMerge(requires({ type: "build", action: "execute", on: "project", audit: "build.release" })),
    HttpApiEndpoint.post("run", "/v1/projects/:project_id_or_slug/builds/:build_id/run", {
      params: buildParams,
      payload: BuildRunInput,
      success: startedRunResponses,
      error: [NotFoundError, PlanRequiredError, ContentDamagedError]
    })
      .annotateMerge(
        extension(
          "Run a function of any build; returns its run after at most `wait` seconds, or 202 with the event if none has started"
        )
      )
      .annotateMerge(
        requires({
          type: "build",
          action: "execute",
          also: { type: "call", action: "create" },
          on: "project",
          audit: "build.run"
        })
      )
  )
  .middleware(Permitted)
  .middleware(Authenticated)
  .annotateMerge(tag("Builds", "Uploaded zips of user code")) {}

export class TriggersApi extends HttpApiGroup.make("triggers")
  .add(
    HttpApiEndpoint.get("eventHandlers", "/v1/projects/:project_id_or_slug/event-handlers", {
      params: projectParams,
      query: pageQuery,
      success: List("EventHandlerList", EventHandlerRecord),
      error: NotFoundError
    })
      .annotateMerge(summary("List the event handlers of the deployed build, by ns, then var"))
      .annotateMerge(requires({ type: "build", action: "read", on: "project" })),
    HttpApiEndpoint.get("schedules", "/v1/projects/:project_id_or_slug/schedules", {
      params: projectParams,
      query: pageQuery,
      success: List("ScheduleList", ScheduleRecord),
      error: NotFoundError
    })
      .annotateMerge(summary("List the schedules of the deployed build, by ns, then var"))
      .annotateMerge(requires({ type: "build", action: "read", on: "project" }))
  )
  .middleware(Permitted)
  .middleware(Authenticated)
  .annotateMerge(tag("Triggers", "Event handlers and schedules of the deployed build")) {}
