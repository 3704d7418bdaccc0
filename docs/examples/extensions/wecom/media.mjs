// Files of WeCom: they are downloaded encrypted, each with a key of its own, and uploaded in parts.
import { createDecipheriv, createHash } from "node:crypto";
import { Failure } from "./channel.mjs";

const maxImage = 10 << 20;
const partSize = 512 << 10;
const downloadTime = 30_000;

/** download returns the bytes of a file, at most `limit`. */
export async function download({ url, aeskey }, limit, local) {
  if (!url.startsWith("https://") && !local) throw new Failure("the file has no address with TLS", "rejected");
  const response = await fetch(url, { redirect: "error", signal: AbortSignal.timeout(downloadTime) }).catch((error) => {
    throw new Failure(`downloading a file: ${error.message}`);
  });
  if (response.status >= 400 && response.status < 500) throw new Failure("the address of the file has expired", "rejected");
  if (!response.ok) throw new Failure(`downloading a file: status ${response.status}`);
  const parts = [];
  let size = 0;
  for await (const part of response.body) {
    if ((size += part.length) > limit + 32) throw new Failure("the file is too large", "rejected");
    parts.push(part);
  }
  return decrypt(Buffer.concat(parts), aeskey);
}

/** decrypt undoes AES-256-CBC with a padding to 32 bytes. The first half of the key is the vector. */
function decrypt(data, aeskey) {
  const key = Buffer.from(aeskey ?? "", "base64");
  if (key.length !== 32 || data.length === 0 || data.length % 16 !== 0) throw new Failure("the file cannot be decrypted", "rejected");
  const decipher = createDecipheriv("aes-256-cbc", key, key.subarray(0, 16)).setAutoPadding(false);
  const plain = Buffer.concat([decipher.update(data), decipher.final()]);
  const padding = plain.at(-1);
  if (padding < 1 || padding > 32 || padding > plain.length || plain.subarray(-padding).some((one) => one !== padding)) {
    throw new Failure("the file cannot be decrypted", "rejected");
  }
  return plain.subarray(0, -padding);
}

/** uploadPlan returns the type of a file, the request that begins its upload, and its parts. */
export function uploadPlan({ name, mime, data }) {
  const picture = /^image\/(png|jpeg|gif)$/.test(mime) && data.length <= maxImage;
  const type = picture ? "image" : "file";
  const chunks = [];
  for (let at = 0; at < data.length; at += partSize) {
    chunks.push({ chunk_index: chunks.length, base64_data: data.subarray(at, at + partSize).toString("base64") });
  }
  const md5 = createHash("md5").update(data).digest("hex"); // WeCom compares it, nothing else does
  return { type, chunks, begin: { type, filename: name, total_size: data.length, total_chunks: chunks.length, md5 } };
}
