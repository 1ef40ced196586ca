/** Checks of the stored data before the first delivery runs. */
import { Layer } from "effect"
import type { StoreUnavailable } from "../../foundation/Errors.ts"
import type { BlobStore } from "../../platform/blobs/BlobStore.ts"
import { keyCheckLayer, type MasterKeyMissing } from "../../platform/encryption/KeyCheck.ts"
import type { Keyring } from "../../platform/encryption/Keyring.ts"
import type { SealedStore } from "../../platform/encryption/SealedStore.ts"
import { type DatabaseEmpty, installationCheckLayer } from "./InstallationCheck.ts"
import type { TenantStore } from "./TenantStore.ts"

export interface StartChecksConfig {
  /**
   * Ids of master keys that are lost for good. The start fails if stored secrets need a master key that is neither
   * configured nor listed here. Secrets of a lost key remain unreadable until they are set again.
   */
  readonly lostMasterKeys?: ReadonlyArray<string>
  /** True to start with an empty database next to existing blobs, which remain unused; by default the start then fails. */
  readonly newInstallation?: boolean
}

export type StartRefusal = DatabaseEmpty | MasterKeyMissing

export const startChecksLayer = ({
  lostMasterKeys,
  newInstallation
}: StartChecksConfig): Layer.Layer<
  never,
  StartRefusal | StoreUnavailable,
  SealedStore | Keyring | TenantStore | BlobStore
> => Layer.merge(keyCheckLayer(lostMasterKeys), installationCheckLayer(newInstallation))
