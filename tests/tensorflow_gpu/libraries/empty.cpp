// A library of NVIDIA of which TensorFlow only wants to know whether it is there, and cuDNN's
// version: 9.3, with which TensorFlow 2.21 was built.
#define API extern "C" __attribute__((visibility("default")))

API unsigned long cudnnGetVersion() { return 90300; }
API int cudnnGetProperty(int which, int* value) {
  static const int version[] = {9, 3, 0};
  *value = which >= 0 && which < 3 ? version[which] : 0;
  return 0;
}
