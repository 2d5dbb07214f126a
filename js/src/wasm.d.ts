declare module "sealstone-work.wasm" {
  const bytes: Uint8Array<ArrayBuffer>;
  export default bytes;
}
