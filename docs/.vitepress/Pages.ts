/** All pages of the site, in their order. A test compares the list with the files. */

export interface Page {
  readonly text: string
  /** Path relative to `docs`. */
  readonly file: string
}

export interface Section {
  readonly text: string
  readonly pages: ReadonlyArray<Page>
}

const page = (text: string, file: string): Page => ({ text, file })

export const sections: ReadonlyArray<Section> = [
  {
    text: "Start",
    pages: [
      page("Overview", "README.md"),
      page("Quick start", "quick-start.md"),
      page("Concepts", "concepts.md"),
      page("Glossary", "glossary.md")
    ]
  },
  {
    text: "Writing functions",
    pages: [
      page("The SDK", "sdk.md"),
      page("The function environment", "functions.md"),
      page("Packages from npm", "npm.md"),
      page("Background functions", "background.md"),
      page("Flow control", "flow-control.md"),
      page("Durable functions", "durable.md"),
      page("Testing durable functions", "testing-durable.md"),
      page("Webhooks", "webhooks.md"),
      page("Schedules", "schedules.md"),
      page("Calls and runs", "calls.md"),
      page("Counts over time and alerts", "alerts.md"),
      page("Running source text", "eval.md"),
      page("Tools for models", "mcp.md"),
      page("Streams", "streams.md"),
      page("Secrets", "secrets.md"),
      page("Outbound requests", "egress.md"),
      page("Builds", "builds.md"),
      page("Canary deployments", "canary.md"),
      page("Previews", "previews.md"),
      page("Record and replay", "replay.md")
    ]
  },
  {
    text: "Working with a server",
    pages: [
      page("The console", "console.md"),
      page("The command line", "cli.md"),
      page("The client", "client.md"),
      page("Using the API", "api.md")
    ]
  },
  {
    text: "Embedding",
    pages: [
      page("Into your application", "embedding.md"),
      page("Host functions", "host-functions.md"),
      page("Your own transactions", "outbox.md"),
      page("Tracing", "tracing.md"),
      page("The packages", "packages.md"),
      page("Writing an adapter", "adapters.md")
    ]
  },
  {
    text: "Operating",
    pages: [
      page("Operating a server", "operating.md"),
      page("Incidents", "incidents.md"),
      page("Settings", "settings.md"),
      page("PostgreSQL", "postgres.md"),
      page("Storage", "storage.md"),
      page("Scaling", "scaling.md"),
      page("Upgrading", "upgrading.md"),
      page("Plans", "plans.md"),
      page("Custom domains", "domains.md"),
      page("Security", "security.md"),
      page("The audit log", "audit.md")
    ]
  },
  {
    text: "Reference",
    pages: [page("Errors", "errors.md"), page("Specification", "specification.md")]
  },
  {
    text: "HTTP reference",
    pages: [
      page("All endpoints", "http/README.md"),
      page("Status", "http/status.md"),
      page("Projects", "http/projects.md"),
      page("Builds", "http/builds.md"),
      page("Canaries", "http/canaries.md"),
      page("Previews", "http/previews.md"),
      page("Triggers", "http/triggers.md"),
      page("Schedules", "http/schedules.md"),
      page("Context variables", "http/context-variables.md"),
      page("Files", "http/files.md"),
      page("Links", "http/links.md"),
      page("Events", "http/events.md"),
      page("Runs", "http/runs.md"),
      page("Recordings", "http/recordings.md"),
      page("Deliveries", "http/deliveries.md"),
      page("Dead letters", "http/dead-letters.md"),
      page("Pauses", "http/pauses.md"),
      page("Operations", "http/operations.md"),
      page("Alerts", "http/alerts.md"),
      page("Calls", "http/calls.md"),
      page("Evaluation", "http/evaluation.md"),
      page("REPL", "http/repl.md"),
      page("Sessions", "http/sessions.md"),
      page("Service keys", "http/service-keys.md"),
      page("Streams", "http/streams.md"),
      page("Environment", "http/environment.md"),
      page("Custom domains", "http/custom-domains.md"),
      page("Audit log", "http/audit-log.md"),
      page("Administration", "http/administration.md"),
      page("Webhooks", "http/webhooks.md"),
      page("Tools", "http/tools.md"),
      page("Tokens", "http/tokens.md"),
      page("Records", "http/records.md")
    ]
  },
  {
    text: "Background",
    pages: [
      page("Reliability", "reliability.md"),
      page("Simulation", "simulation.md"),
      page("Benchmarks", "benchmarks.md"),
      page("Comparison", "comparison.md"),
      page("Streams without gaps", "design/streams.md"),
      page("Operations of svc", "design/svc.md"),
      page("Turns of the event loop", "design/turns.md"),
      page("Durable functions", "design/durable.md"),
      page("Decisions", "decisions/README.md"),
      page("Decisions on the specification", "decisions/specification.md")
    ]
  }
]
