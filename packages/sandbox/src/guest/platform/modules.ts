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
  (id: "./headers.ts"): typeof import("./headers.ts")
  (id: "./inspect.ts"): typeof import("./inspect.ts")
  (id: "./multipart.ts"): typeof import("./multipart.ts")
  (id: "./performance.ts"): typeof import("./performance.ts")
  (id: "./request.ts"): typeof import("./request.ts")
  (id: "./response.ts"): typeof import("./response.ts")
  (id: "./streams.ts"): typeof import("./streams.ts")
  (id: "./structured-clone.ts"): typeof import("./structured-clone.ts")
  (id: "./text.ts"): typeof import("./text.ts")
  (id: "./text-streams.ts"): typeof import("./text-streams.ts")
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
  headers: () => require("./headers.ts"),
  inspect: () => require("./inspect.ts"),
  multipart: () => require("./multipart.ts"),
  performance: () => require("./performance.ts"),
  request: () => require("./request.ts"),
  response: () => require("./response.ts"),
  streams: () => require("./streams.ts"),
  structuredClone: () => require("./structured-clone.ts"),
  text: () => require("./text.ts"),
  textStreams: () => require("./text-streams.ts"),
  searchParams: () => require("./url/search-params.ts"),
  url: () => require("./url/url.ts")
}
