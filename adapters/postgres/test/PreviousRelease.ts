/**
 * The previous release, as far as tests run it together with the current code.
 *
 * Its services have the same names as the current ones, so that the code of each release finds those of the other.
 */
import type * as contract from "@weft/contract"
import type * as core from "@weft/core"
import type { Stores } from "@weft/core/adapter"
import type * as testing from "@weft/core/testing"
import { loadPreviousRelease } from "@weft/tooling/previous-release"
import type { Layer } from "effect"

interface PreviousRelease {
  /** The number of the last step of its migrations. */
  readonly lastStep: number
  readonly stores: (options: { readonly url: string }) => Layer.Layer<Stores, Error>
  readonly databaseContracts: typeof contract.databaseContracts
  readonly core: Pick<typeof core, "layer"> & Pick<typeof testing, "trustedSandbox">
}

export const previous = await loadPreviousRelease<PreviousRelease>()
