/** The complete HTTP API as data: paths, schemas, statuses. A client imports it without the server. */
import { HttpApi, OpenApi } from "effect/http-api"
import { completeDocument } from "./openapi/Document.ts"
import { AdminApi } from "./routes/AdminApi.ts"
import { AlertsApi } from "./routes/AlertsApi.ts"
import { AuditApi } from "./routes/AuditApi.ts"
import { Enveloped } from "./routes/Authentication.ts"
import { BuildsApi, TriggersApi } from "./routes/BuildsApi.ts"
import { CallsApi } from "./routes/CallsApi.ts"
import { CanariesApi } from "./routes/CanariesApi.ts"
import { ContextApi } from "./routes/ContextApi.ts"
import { DeadLettersApi } from "./routes/DeadLettersApi.ts"
import { DeliveriesApi } from "./routes/DeliveriesApi.ts"
import { DomainsApi } from "./routes/DomainsApi.ts"
import { EnvApi } from "./routes/EnvApi.ts"
import { EvalApi } from "./routes/EvalApi.ts"
import { EventsApi } from "./routes/EventsApi.ts"
import { FilesApi } from "./routes/FilesApi.ts"
import { LinksApi } from "./routes/LinksApi.ts"
import { OperationsApi } from "./routes/OperationsApi.ts"
import { PausesApi } from "./routes/PausesApi.ts"
import { PreviewsApi } from "./routes/PreviewsApi.ts"
import { ProjectsApi } from "./routes/ProjectsApi.ts"
import { RecordingsApi } from "./routes/RecordingsApi.ts"
import { ReplApi } from "./routes/ReplApi.ts"
import { RunsApi } from "./routes/RunsApi.ts"
import { SchedulesApi } from "./routes/SchedulesApi.ts"
import { ServiceKeysApi } from "./routes/ServiceKeysApi.ts"
import { SessionsApi } from "./routes/SessionsApi.ts"
import { StatusApi } from "./routes/StatusApi.ts"
import { StreamsApi } from "./routes/StreamsApi.ts"

export class WeftApi extends HttpApi.make("weft")
  .add(
    StatusApi,
    ProjectsApi,
    BuildsApi,
    CanariesApi,
    PreviewsApi,
    TriggersApi,
    SchedulesApi,
    ContextApi,
    FilesApi,
    LinksApi,
    EventsApi,
    RunsApi,
    RecordingsApi,
    DeliveriesApi,
    DeadLettersApi,
    PausesApi,
    OperationsApi,
    AlertsApi,
    CallsApi,
    EvalApi,
    ReplApi,
    SessionsApi,
    ServiceKeysApi,
    StreamsApi,
    EnvApi,
    DomainsApi,
    AuditApi,
    AdminApi
  )
  .middleware(Enveloped)
  // Core has checked the results of handlers. Another check of every response would cost a regular expression per id.
  .annotate(HttpApi.SuccessParseOptions, { disableChecks: true })
  .annotateMerge(
    OpenApi.annotations({
      title: "Weft",
      version: "1",
      summary: "Workflow automation: builds of user code, triggered by events, schedules and webhooks",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
      servers: [{ url: "/" }],
      transform: completeDocument
    })
  ) {}
