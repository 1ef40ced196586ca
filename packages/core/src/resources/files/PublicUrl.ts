/** The public base URL of this host, for links. */
import { Context, Layer } from "effect"

/** Returns the URL without a trailing slash, or null if it is not configured. A function, because it may be set later. */
export const PublicUrl = Context.Reference<() => string | null>("@weft/core/resources/files/PublicUrl", {
  defaultValue: () => () => null
})

/** Provides the configured URL. */
export const publicUrlLayer = (url: string | (() => string | null) | null): Layer.Layer<never> =>
  Layer.succeed(PublicUrl, typeof url === "function" ? url : () => url)
