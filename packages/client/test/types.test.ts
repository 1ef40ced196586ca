/** The types of the client and of the API are equal if this file compiles. */
import { assert, describe, it } from "@effect/vitest"
import type * as Api from "@weft/api"
import type * as Client from "@weft/client"
import { createClient } from "@weft/client"

/** The JSON type of a schema's values. */
type Wire<S extends { readonly Encoded: unknown }> = S["Encoded"]

/** `true` if each type is assignable to the other. */
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false

interface Records {
  readonly Project: Same<Client.Project, Wire<typeof Api.ProjectRecord>>
  readonly Build: Same<Client.Build, Wire<typeof Api.BuildRecord>>
  readonly BuildWithProjectName: Same<Client.BuildWithProjectName, Wire<typeof Api.NamedBuildRecord>>
  readonly UploadedBuild: Same<Client.UploadedBuild, Wire<typeof Api.UploadedBuildRecord>>
  readonly EventHandler: Same<Client.EventHandler, Wire<typeof Api.EventHandlerRecord>>
  readonly Schedule: Same<Client.Schedule, Wire<typeof Api.ScheduleRecord>>
  readonly DynamicSchedule: Same<Client.DynamicSchedule, Wire<typeof Api.DynamicScheduleRecord>>
  readonly Event: Same<Client.Event, Wire<typeof Api.EventRecord>>
  readonly Run: Same<Client.Run, Wire<typeof Api.RunRecord>>
  readonly RunStats: Same<Client.RunStats, Wire<typeof Api.RunStatsRecord>>
  readonly OwnEnvironment: Same<Client.OwnEnvironment, Wire<typeof Api.OwnEnvRecord>>
  readonly RunUsage: Same<Client.RunUsage, Wire<typeof Api.RunUsageRecord>>
  readonly LogEntry: Same<Client.LogEntry, Wire<typeof Api.LogEntryRecord>>
  readonly File: Same<Client.File, Wire<typeof Api.FileRecord>>
  readonly UploadedFile: Same<Client.UploadedFile, Wire<typeof Api.UploadedFileRecord>>
  readonly UploadedPart: Same<Client.UploadedPart, Wire<typeof Api.UploadedPartRecord>>
  readonly MultipartUpload: Same<Client.MultipartUpload, Wire<typeof Api.MultipartUploadRecord>>
  readonly ContextVariable: Same<Client.ContextVariable, Wire<typeof Api.ContextVariableRecord>>
  readonly CreatedSession: Same<Client.CreatedSession, Wire<typeof Api.CreatedSessionRecord>>
  readonly CreatedServiceKey: Same<Client.CreatedServiceKey, Wire<typeof Api.CreatedServiceKeyRecord>>
  readonly Domain: Same<Client.Domain, Wire<typeof Api.DomainRecord>>
  readonly DomainVerification: Same<Client.DomainVerification, Wire<typeof Api.VerificationRecord>>
  readonly OrganizationUsage: Same<Client.OrganizationUsage, Wire<typeof Api.OrgUsageRecord>>
  readonly Environment: Same<Client.Environment, Wire<typeof Api.EnvRecord>>
  readonly Organization: Same<Client.Organization, Wire<typeof Api.OrgRecord>>
  readonly CreatedApiKey: Same<Client.CreatedApiKey, Wire<typeof Api.CreatedApiKeyRecord>>
  readonly Status: Same<Client.Status, Wire<typeof Api.StatusRecord>>
  readonly ErrorCode: Same<Client.ErrorCode, Api.ErrorCode>
}

const records: { readonly [Name in keyof Records]: Records[Name] extends true ? "same" : "another" } = {
  Project: "same",
  Build: "same",
  BuildWithProjectName: "same",
  UploadedBuild: "same",
  EventHandler: "same",
  Schedule: "same",
  DynamicSchedule: "same",
  Event: "same",
  Run: "same",
  RunStats: "same",
  RunUsage: "same",
  LogEntry: "same",
  File: "same",
  UploadedFile: "same",
  UploadedPart: "same",
  MultipartUpload: "same",
  ContextVariable: "same",
  CreatedSession: "same",
  CreatedServiceKey: "same",
  Domain: "same",
  DomainVerification: "same",
  OrganizationUsage: "same",
  Environment: "same",
  OwnEnvironment: "same",
  Organization: "same",
  CreatedApiKey: "same",
  Status: "same",
  ErrorCode: "same"
}

const weft = createClient({
  baseUrl: "http://127.0.0.1:1",
  fetch: (input) => Promise.reject(new TypeError(String(input))),
  retry: false
})

/** Never executed. Each `@ts-expect-error` has the reason why its line must not compile. */
const mistakes = async (): Promise<void> => {
  // @ts-expect-error a project requires a name
  await weft.projects.create({})
  // @ts-expect-error field names must be those of the API
  await weft.events.publish({ type: "a", data: 1 })
  // @ts-expect-error the status does not exist
  await weft.runs.list({ status: "sleeping" })
  const run = await weft.runs.get("id")
  // @ts-expect-error records are read-only
  run.status = "failed"
  // @ts-expect-error a run does not have this field
  run.name
  for await (const message of weft.streams.watch("id")) {
    if (message.event === "stream:data") message.data.payload
    // @ts-expect-error only stream:data has a payload
    if (message.event === "run:stop") message.data.payload
    // @ts-expect-error a stream has no events of its environment
    if (message.event === "event:created") message.data
  }
  // @ts-expect-error a page is not iterable
  ;(await weft.runs.list()).map
  // @ts-expect-error a download returns a Response of fetch
  ;(await weft.files.download("id")).file_id
}

describe("types", () => {
  it("of records equal those of the API", () => {
    assert.isTrue(Object.values(records).every((comparison) => comparison === "same"))
  })

  it("reject mistakes at compile time", () => {
    assert.isFunction(mistakes)
  })

  it("contain existing methods only", async () => {
    const error = await weft.runs.get("id").catch((reason: unknown) => reason)
    assert.include(String(error), "WeftNetworkError")
  })
})
