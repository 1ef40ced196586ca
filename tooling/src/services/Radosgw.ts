/**
 * Starts the S3 gateway of Ceph from Debian packages: one monitor, one in-memory store, one gateway, on the loopback
 * interface.
 *
 * It rejects invalid signatures and malformed requests, and stores at most 8 GiB.
 */
import { randomBytes, randomUUID } from "node:crypto"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { daemons } from "./Daemons.ts"
import { installed } from "./Debian.ts"
import { freePort } from "./Port.ts"
import type { S3Server } from "./S3Server.ts"

const radosgwPackages = ["ceph-mon", "ceph-osd", "radosgw", "ceph-common"]

const storeBytes = 8 * 1024 ** 3

export const radosgw = async (): Promise<S3Server> => {
  installed("radosgw", ["ceph-mon", "ceph-osd", "radosgw", "radosgw-admin", "ceph"], radosgwPackages)
  const cluster = daemons("radosgw")
  try {
    const { begin, run, listening, answering, dir } = cluster
    const [port, monitor, older] = [await freePort(), await freePort(), await freePort()]
    const fsid = randomUUID()
    const conf = ["-c", writeConf(dir, fsid, port, monitor, older)]
    const addresses = `[v2:127.0.0.1:${monitor},v1:127.0.0.1:${older}]`
    run("monmaptool", ["--create", "--clobber", "--fsid", fsid, "--addv", "a", addresses, join(dir, "monmap")])
    run("ceph-mon", [...conf, "--mkfs", "-i", "a", "--monmap", join(dir, "monmap")])
    begin("mon", "ceph-mon", [...conf, "-i", "a", "-f"])
    await listening("mon", monitor)
    const store = randomUUID()
    run("ceph", [...conf, "osd", "new", store])
    run("ceph-osd", [...conf, "-i", "0", "--mkfs", "--osd-uuid", store])
    begin("osd", "ceph-osd", [...conf, "-i", "0", "-f"])
    const [accessKey, secretKey] = [randomBytes(10).toString("hex"), randomBytes(20).toString("hex")]
    const keys = ["--access-key", accessKey, "--secret-key", secretKey]
    run("radosgw-admin", [...conf, "user", "create", "--uid=test", "--display-name=test", ...keys])
    begin("gateway", "radosgw", [...conf, "-n", "client.rgw", "-f"])
    await answering("gateway", `http://127.0.0.1:${port}/`)
    return { endPoint: "127.0.0.1", port, useSSL: false, accessKey, secretKey, remove: cluster.remove }
  } catch (error) {
    await cluster.remove()
    throw error
  }
}

const writeConf = (dir: string, fsid: string, port: number, monitor: number, older: number): string => {
  for (const folder of ["mon", "osd", "run"]) mkdirSync(join(dir, folder))
  const file = join(dir, "ceph.conf")
  writeFileSync(
    file,
    section("global", {
      fsid,
      mon_host: `[v2:127.0.0.1:${monitor},v1:127.0.0.1:${older}]`,
      public_addr: "127.0.0.1",
      cluster_addr: "127.0.0.1",
      auth_cluster_required: "none",
      auth_service_required: "none",
      auth_client_required: "none",
      ms_mon_client_mode: "crc",
      run_dir: join(dir, "run"),
      admin_socket: join(dir, "run", "$name.asok"),
      log_file: join(dir, "log", "$name.log"),
      crash_dir: join(dir, "run"),
      pid_file: "",
      debug_default: "0/0",
      mon_cluster_log_to_file: "false",
      osd_pool_default_size: 1,
      osd_pool_default_min_size: 1,
      osd_pool_default_pg_num: 8,
      osd_pool_default_pgp_num: 8,
      osd_pool_default_pg_autoscale_mode: "off",
      osd_crush_chooseleaf_type: 0,
      mon_allow_pool_size_one: "true",
      mon_max_pg_per_osd: 10_000,
      // Starts even if the disk is nearly full, because the data is in memory.
      mon_data_avail_crit: 1,
      mon_data_avail_warn: 1,
      paxos_propose_interval: 0.02,
      paxos_min_wait: 0.01
    }) +
      section("mon", { mon_data: join(dir, "mon") }) +
      section("osd", {
        osd_data: join(dir, "osd"),
        osd_objectstore: "memstore",
        memstore_device_bytes: storeBytes,
        osd_memory_target: 939_524_096,
        osd_op_num_shards: 2,
        osd_max_write_size: 256
      }) +
      section("client", {
        rgw_frontends: `beast endpoint=127.0.0.1:${port} tcp_nodelay=1`,
        rgw_data: join(dir, "run"),
        rgw_enable_usage_log: "false",
        rgw_dynamic_resharding: "false",
        rgw_override_bucket_index_max_shards: 1,
        rgw_run_sync_thread: "false",
        rgw_thread_pool_size: 64,
        rgw_rados_pool_pg_num_min: 8,
        rgw_init_timeout: 60,
        // Frees the memory of deleted objects early.
        rgw_gc_obj_min_wait: 5,
        rgw_gc_processor_period: 10,
        rgw_gc_processor_max_time: 10
      })
  )
  return file
}

const section = (name: string, settings: Readonly<Record<string, string | number>>): string =>
  `[${name}]\n${Object.entries(settings)
    .map(([key, value]) => `${key} = ${value}\n`)
    .join("")}`
