/** Areas of the Web Platform Tests that a server platform has, with their folders in a checkout. */

export interface WebArea {
  readonly name: string
  readonly folders: ReadonlyArray<string>
}

const area = (name: string, ...folders: ReadonlyArray<string>): WebArea => ({
  name,
  folders: folders.length === 0 ? [name] : folders
})

export const webAreas: ReadonlyArray<WebArea> = [
  area("url"),
  area("urlpattern"),
  area("encoding"),
  area("fetch/api", ...["abort", "body", "headers", "request", "response"].map((name) => `fetch/api/${name}`)),
  area("fetch/data-urls"),
  area("xhr/formdata"),
  area("streams"),
  area("dom/abort"),
  area("dom/events"),
  area("html/webappapis/timers"),
  area("html/webappapis/microtask-queuing"),
  area("html/webappapis/structured-clone"),
  area("html/webappapis/atob"),
  area("FileAPI"),
  area("hr-time"),
  area("user-timing"),
  area("performance-timeline"),
  area("console"),
  area("compression"),
  area("webmessaging"),
  area("webidl"),
  area("mimesniff"),
  area("WebCryptoAPI")
]
