/** Allowed imports between the parts of the repository, and the exceptions with their reasons. */

/** Folders that may not import each other. Each may import all folders of earlier layers. */
type Layer = ReadonlyArray<string>

/** The wings of `packages/core/src`. The files next to them, such as `Weft.ts`, come last. */
export const wings: ReadonlyArray<Layer> = [
  ["foundation"],
  ["platform"],
  ["tenants"],
  ["resources"],
  ["runtime"],
  ["memory", "embed"]
]

/** The rooms of each wing that has rooms only. */
export const rooms: ReadonlyMap<string, ReadonlyArray<Layer>> = new Map([
  ["platform", [["sandbox", "egress", "encryption", "blobs", "cluster", "turns"]]],
  ["tenants", [["access"], ["orgs"]]],
  [
    "resources",
    [["projects"], ["secrets", "files"], ["builds"], ["schedules", "domains", "previews"], ["usage"], ["audit"]]
  ],
  [
    "runtime",
    [
      ["events"],
      ["runs"],
      ["journal"],
      ["svc"],
      ["execution"],
      ["workflows"],
      ["dispatch"],
      ["control", "streams", "webhooks", "evaluation"]
    ]
  ]
])

export interface Direction {
  /** A folder, or all folders below one when it ends in `/*`. */
  readonly folder: string
  /** Workspace packages that its sources may import. */
  readonly workspaces: ReadonlyArray<string>
  /** Other packages; `"declared"` allows those of the manifest and Node's own modules. */
  readonly packages: ReadonlyArray<string> | "declared"
}

/** The first match counts. Tests may import every declared package. */
export const directions: ReadonlyArray<Direction> = [
  { folder: "packages/core", workspaces: [], packages: ["effect", "cron-parser", "@marcbachmann/cel-js"] },
  { folder: "packages/api", workspaces: ["@weft/core"], packages: ["effect"] },
  { folder: "packages/client", workspaces: [], packages: [] },
  { folder: "packages/bundler", workspaces: [], packages: "declared" },
  { folder: "packages/console", workspaces: ["@weft/client"], packages: "declared" },
  { folder: "packages/sql", workspaces: ["@weft/core"], packages: ["effect"] },
  { folder: "packages/contract", workspaces: ["@weft/core"], packages: "declared" },
  { folder: "packages/sandbox", workspaces: ["@weft/core"], packages: "declared" },
  { folder: "packages/sdk/src/testing", workspaces: [], packages: "declared" },
  { folder: "packages/sdk", workspaces: [], packages: [] },
  {
    folder: "packages/cli",
    workspaces: [
      ...["@weft/bundler", "@weft/client", "@weft/core", "@weft/egress", "@weft/filesystem"],
      ...["@weft/http", "@weft/sandbox", "@weft/sqlite"]
    ],
    packages: "declared"
  },
  {
    folder: "packages/weft",
    workspaces: [
      ...["@weft/core", "@weft/egress", "@weft/filesystem"],
      ...["@weft/http", "@weft/sandbox", "@weft/sqlite"]
    ],
    packages: "declared"
  },
  { folder: "adapters/*", workspaces: ["@weft/core", "@weft/api", "@weft/sql"], packages: "declared" },
  { folder: "tooling", workspaces: [], packages: "declared" }
]

/** Folders with their own installed packages that belong to another workspace. They may import what it may import. */
export const annexes: ReadonlyMap<string, string> = new Map([["bench/peers", "bench"]])

/** Workspaces that no other workspace may import. */
export const leafFolders = ["examples/", "proof"]

/** Code that runs in the processes of guests: small, fast to start, and without the host's code at run time. */
export const guestSide = [
  "packages/sandbox/src/runner/",
  "packages/sandbox/src/guest/",
  "packages/bundler/src/modules/"
]

/**
 * The only folder that may load the engine, because the engine can crash its process. `peers` are programs of the
 * benchmarks with a process of their own.
 */
export const engine = { package: "isolated-vm", folder: "packages/sandbox/src/runner/", peers: "bench/peers/src/" }

/** The only folders that may read the wall clock, environment variables or weak randomness. */
export const edges = [
  "tooling/",
  "bench/",
  "proof/",
  "examples/embed-effect/",
  "examples/embed-express/",
  "examples/embed-fastify/",
  "examples/embed-hono/",
  "examples/standalone/",
  // A page in a browser.
  "packages/console/src/",
  "packages/sandbox/src/runner/",
  "packages/sandbox/src/guest/",
  "packages/bundler/src/modules/"
]

/** Words that name no concept, as files or folders. */
export const emptyNames = ["util", "utils", "common", "helper", "helpers", "manager", "misc", "lib"]

export const linesOfFileMax = 400
export const linesOfFunctionMax = 70

export const isTest = (path: string): boolean => /(^|\/)test\//.test(path)

/** True for configuration, scripts and tests, which are not published and may use the root's development tools. */
export const isDevelopment = (path: string): boolean =>
  isTest(path) || /(^|\/)(scripts|tooling|bench|proof|docs)\//.test(path) || /\.config\.ts$/.test(path)
