/** Certificates as the matter of a proxy in front of this server, which ends TLS. */
import { Certificates } from "@weft/core"
import type { Layer } from "effect"

/** Nothing is issued here: a domain is validated by its record alone. The default. */
export const external = (): Layer.Layer<Certificates> => Certificates.external
