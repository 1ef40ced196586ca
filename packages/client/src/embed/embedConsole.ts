/** Shows the console in a page of the host, for one of its customers. For browsers. */

/** Appearance and extent of an embedded console. */
export interface ConsoleAppearance {
  /** Name above the navigation; `Weft` by default. */
  readonly name?: string | undefined
  /** A `data:` URL of an image; the logo of Weft by default. */
  readonly logo?: string | undefined
  /** Colour of buttons and links, as `#rrggbb`. The console adjusts its lightness until texts are legible. */
  readonly accent?: string | undefined
  /** `en` or `de`; that of the browser by default. */
  readonly language?: string | undefined
  /** `light`, `dark` or `system`, which is the default. */
  readonly theme?: string | undefined
  /** Pages of the navigation, such as `["overview", "runs"]`; all by default. Permissions of the session protect the others. */
  readonly pages?: ReadonlyArray<string> | undefined
}

export interface EmbedOptions extends ConsoleAppearance {
  /** URL of the console, such as `https://weft.example.com/console`. It may have the path of a page, such as `/runs`. */
  readonly url: string
  /**
   * Returns the token of a session, which the host's server creates for this customer. Called at the start, and again when
   * the session has ended.
   */
  readonly session: () => Promise<string>
  /** Title of the frame for screen readers; `Console` by default. */
  readonly title?: string | undefined
}

/**
 * Adds the console to the element as a frame, and returns a function that removes it.
 *
 * The server must permit the origin of the page with `consoleEmbeddedIn`. The token is sent to the frame only, and it is not
 * stored.
 */
export const embedConsole = (element: HTMLElement, options: EmbedOptions): (() => void) => {
  const { url, session, title = "Console", ...appearance } = options
  const { origin } = new URL(url, element.baseURI)
  const frame = document.createElement("iframe")
  frame.title = title
  frame.style.cssText = "width: 100%; height: 100%; border: 0"
  frame.allow = "clipboard-write"
  const onMessage = async ({ source, origin: from, data }: MessageEvent): Promise<void> => {
    if (source !== frame.contentWindow || from !== origin || data?.type !== "weft:ready") return
    const token = await session()
    frame.contentWindow?.postMessage({ type: "weft:session", token, ...appearance }, origin)
  }
  const listener = (message: MessageEvent) => void onMessage(message)
  window.addEventListener("message", listener)
  frame.src = url
  element.append(frame)
  return () => {
    window.removeEventListener("message", listener)
    frame.remove()
  }
}
