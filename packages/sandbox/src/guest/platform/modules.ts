/**
 * Modules of the platform that are evaluated at their first use.
 *
 * The bundler replaces `require` of a local module by a lazy initializer: an isolate has no module loader. Modules that
 * others need only occasionally are imported through this table instead of a static import.
 */
interface Require {
  (id: "./abort.ts"): typeof import("./abort.ts")
  (id: "./base64.ts"): typeof import("./base64.ts")
  (id: "./blob.ts"): typeof import("./blob.ts")
  (id: "./console.ts"): typeof import("./console.ts")
  (id: "./crypto/crypto.ts"): typeof import("./crypto/crypto.ts")
  (id: "./crypto/hashes.ts"): typeof import("./crypto/hashes.ts")
  (id: "./crypto/keys.ts"): typeof import("./crypto/keys.ts")
  (id: "./crypto/random.ts"): typeof import("./crypto/random.ts")
  (id: "./crypto/subtle.ts"): typeof import("./crypto/subtle.ts")
  (id: "./dom-exception.ts"): typeof import("./dom-exception.ts")
  (id: "./events.ts"): typeof import("./events.ts")
  (id: "./fetch.ts"): typeof import("./fetch.ts")
  (id: "./files.ts"): typeof import("./files.ts")
  (id: "./form-data.ts"): typeof import("./form-data.ts")
  (id: "./global-events.ts"): typeof import("./global-events.ts")
  (id: "./headers.ts"): typeof import("./headers.ts")
  (id: "./inspect.ts"): typeof import("./inspect.ts")
  (id: "./data-url.ts"): typeof import("./data-url.ts")
  (id: "./mime.ts"): typeof import("./mime.ts")
  (id: "./multipart.ts"): typeof import("./multipart.ts")
  (id: "./performance.ts"): typeof import("./performance.ts")
  (id: "./request.ts"): typeof import("./request.ts")
  (id: "./response.ts"): typeof import("./response.ts")
  (id: "./streams.ts"): typeof import("./streams.ts")
  (id: "./structured-clone.ts"): typeof import("./structured-clone.ts")
  (id: "./text.ts"): typeof import("./text.ts")
  (id: "./text-streams.ts"): typeof import("./text-streams.ts")
  (id: "./bytes.ts"): typeof import("./bytes.ts")
  (id: "./define.ts"): typeof import("./define.ts")
  (id: "./encodings.ts"): typeof import("./encodings.ts")
  (id: "./error-events.ts"): typeof import("./error-events.ts")
  (id: "./host.ts"): typeof import("./host.ts")
  (id: "./host-bytes.ts"): typeof import("./host-bytes.ts")
  (id: "./navigator.ts"): typeof import("./navigator.ts")
  (id: "./report.ts"): typeof import("./report.ts")
  (id: "./timers.ts"): typeof import("./timers.ts")
  (id: "./url/search-params.ts"): typeof import("./url/search-params.ts")
  (id: "./url/url.ts"): typeof import("./url/url.ts")
}

declare const require: Require

export const modules = {
  abort: () => require("./abort.ts"),
  base64: () => require("./base64.ts"),
  blob: () => require("./blob.ts"),
  console: () => require("./console.ts"),
  crypto: () => require("./crypto/crypto.ts"),
  hashes: () => require("./crypto/hashes.ts"),
  cryptoKeys: () => require("./crypto/keys.ts"),
  random: () => require("./crypto/random.ts"),
  subtle: () => require("./crypto/subtle.ts"),
  domException: () => require("./dom-exception.ts"),
  events: () => require("./events.ts"),
  fetch: () => require("./fetch.ts"),
  files: () => require("./files.ts"),
  formData: () => require("./form-data.ts"),
  globalEvents: () => require("./global-events.ts"),
  headers: () => require("./headers.ts"),
  inspect: () => require("./inspect.ts"),
  dataUrl: () => require("./data-url.ts"),
  mime: () => require("./mime.ts"),
  multipart: () => require("./multipart.ts"),
  performance: () => require("./performance.ts"),
  request: () => require("./request.ts"),
  response: () => require("./response.ts"),
  streams: () => require("./streams.ts"),
  structuredClone: () => require("./structured-clone.ts"),
  text: () => require("./text.ts"),
  textStreams: () => require("./text-streams.ts"),
  bytes: () => require("./bytes.ts"),
  define: () => require("./define.ts"),
  encodings: () => require("./encodings.ts"),
  errorEvents: () => require("./error-events.ts"),
  host: () => require("./host.ts"),
  hostBytes: () => require("./host-bytes.ts"),
  navigator: () => require("./navigator.ts"),
  report: () => require("./report.ts"),
  timers: () => require("./timers.ts"),
  searchParams: () => require("./url/search-params.ts"),
  url: () => require("./url/url.ts")
}
