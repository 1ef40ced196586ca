/** The plan of the house as data: who may know whom, and the exceptions with their reasons. */

/** Folders of `packages/core/src`, each importing only itself and those before it. Files beside them come after all. */
export const coreFolders = [
  "errors",
  "ids",
  "metrics",
  "tracing",
  "encryption",
  "sandbox",
  "egress",
  "activity",
  "access",
  "tenancy",
  "projects",
  "secrets",
  "blobs",
  "files",
  "builds",
  "schedules",
  "events",
  "hosting",
  "runs",
  "journal",
  "hostcalls",
  "execution",
  "deliveries",
  "control",
  "usage",
  "streams",
  "webhooks",
  "tools",
  "domains",
  "audit",
  "memory"
]

export interface Direction {
  /** A folder, or all folders below one when it ends in `/*`. */
  readonly folder: string
  /** Workspace packages that its sources may import. */
  readonly workspaces: ReadonlyArray<string>
  /** Other packages; `"declared"` leaves that to the dependency rule and allows Node's own modules. */
  readonly packages: ReadonlyArray<string> | "declared"
}

/** The first match counts. Tests are bound by the dependency rule only. */
export const directions: ReadonlyArray<Direction> = [
  { folder: "packages/core", workspaces: [], packages: ["effect", "cron-parser"] },
  { folder: "packages/api", workspaces: ["@weft/core"], packages: ["effect"] },
  { folder: "packages/client", workspaces: [], packages: [] },
  { folder: "packages/sql", workspaces: ["@weft/core"], packages: ["effect"] },
  { folder: "packages/contract", workspaces: ["@weft/core"], packages: "declared" },
  { folder: "packages/sandbox", workspaces: ["@weft/core"], packages: "declared" },
  { folder: "packages/sdk/src/testing", workspaces: [], packages: "declared" },
  { folder: "packages/sdk", workspaces: [], packages: [] },
  {
    folder: "packages/cli",
    workspaces: [
      ...["@weft/client", "@weft/core", "@weft/egress", "@weft/filesystem"],
      ...["@weft/http", "@weft/sandbox", "@weft/sqlite"]
    ],
    packages: "declared"
  },
  { folder: "adapters/*", workspaces: ["@weft/core", "@weft/api", "@weft/sql"], packages: "declared" },
  { folder: "tooling", workspaces: [], packages: "declared" }
]

/** Installed with packages of their own, and otherwise part of another workspace: what that has, they may import. */
export const annexes: ReadonlyMap<string, string> = new Map([["bench/peers", "bench"]])

/** Workspaces that are at the end of every arrow. */
export const leafFolders = ["examples/", "bench"]

/** What runs beside guests: small, quick to start, and free of the host's code at run time. */
export const guestSide = ["packages/sandbox/src/runner/", "packages/sandbox/src/guest/"]

/** The one place that may load the engine: it can bring its process down. */
export const engine = { package: "isolated-vm", folder: "packages/sandbox/src/runner/" }

/** Where the world comes in: the only files that may read the wall clock, the environment or weak randomness. */
export const edges = [
  "tooling/",
  "bench/",
  "examples/embed-effect/",
  "examples/embed-express/",
  "examples/embed-fastify/",
  "examples/embed-hono/",
  "examples/standalone/",
  "packages/sandbox/src/runner/",
  "packages/sandbox/src/guest/"
]

/** Dependencies that no import names, and what needs them. */
export const usedWithoutImport: ReadonlyMap<string, string> = new Map([
  ["@restatedev/restate-server", "a program that benchmarks start"],
  ["@arethetypeswrong/cli", "npm run smoke"],
  ["@biomejs/biome", "npm run lint"],
  ["@types/node", "types in tsconfig.json"],
  ["node", "the Node that scripts, tests and install scripts run under"],
  ["typescript", "npm run check"],
  ["vitest", "@effect/vitest wants it beside itself"]
])

/** Words that name no concept, as files or folders. */
export const emptyNames = ["util", "utils", "common", "helper", "helpers", "manager", "misc", "lib"]

export const linesOfFileMax = 400
export const linesOfFunctionMax = 70

export const isTest = (path: string): boolean => /(^|\/)test\//.test(path)

/** Configuration, scripts and tests: what is never published and may use the root's development tools. */
export const isDevelopment = (path: string): boolean =>
  isTest(path) || /(^|\/)(scripts|tooling|bench|docs)\//.test(path) || /\.config\.ts$/.test(path)
